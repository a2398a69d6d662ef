import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { debianProgram } from '../../packages/counterfoil/src/testing/debian-program.ts'

export function missingStrace(): string | undefined {
  return debianProgram('strace', 'strace') === undefined ? 'it has no strace' : undefined
}

/** Every sync of these processes and of their children fails with EIO, until the returned function is called. */
export async function failSyncs(pids: readonly number[]): Promise<() => Promise<void>> {
  const inject = ['-e', 'trace=fdatasync,fsync', '-e', 'inject=fdatasync,fsync:error=EIO']
  const tracer = spawn(
    'strace',
    ['-f', '-o', '/dev/null', ...inject, ...pids.flatMap((pid) => ['-p', `${pid}`])],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const ended = once(tracer, 'exit')
  // "strace: Process 1234 attached"
  await Promise.race([once(tracer.stderr, 'data'), ended])
  return async () => {
    tracer.kill('SIGINT')
    await ended
  }
}
