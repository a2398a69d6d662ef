import { spawnSync } from 'node:child_process'

/**
 * The path of a program that a test needs. Where it is missing, root on Debian installs its package.
 *
 * @returns undefined where it cannot be had
 */
export function debianProgram(program: string, debianPackage: string): string | undefined {
  return find(program) ?? (install(debianPackage) ? find(program) : undefined)
}

function find(program: string): string | undefined {
  // Servers lie where only root's path leads.
  const { stdout } = spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`], {
    encoding: 'utf8',
  })
  return stdout.trim() || undefined
}

function install(debianPackage: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const apt = (...words: string[]) => spawnSync('apt-get', words, { stdio: 'ignore' }).status === 0
  const words = ['install', '-y', '-q', '--no-install-recommends', debianPackage]
  // A fresh machine may not have the lists of packages yet.
  return apt(...words) || (apt('update', '-q') && apt(...words))
}
