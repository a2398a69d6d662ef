// Runs on any Node, to say in plain words what is missing.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `Counterfoil needs Node 24.15 or newer; this is ${process.version}.\n` +
      'On Linux (x64, arm64) `npm ci` brings one and npm scripts use it; elsewhere please install it.\n',
  )
  process.exit(2)
}
