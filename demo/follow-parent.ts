/**
 * Loaded before a child of the demo starts (`--import`): when the parent is gone, however it went, the child
 * stops as if it had been asked to.
 */
process.on('disconnect', () => {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.exit(1), 15_000).unref()
})
// The channel alone keeps no child alive.
process.channel?.unref()
