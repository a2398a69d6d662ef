// Runs on any old Node: says what to do when this one cannot run the checkout's TypeScript.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  console.error(`Counterfoil needs Node 24.15 or newer; this is ${process.version}.`)
  console.error(
    'On Linux x64 and arm64, `npm ci` brings its own Node, which npm scripts use; elsewhere install one from https://nodejs.org.',
  )
  process.exit(2)
}
