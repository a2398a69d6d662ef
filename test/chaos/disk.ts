import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import type { Setting } from './kind.ts'

/** Why this machine cannot mount, or undefined. */
export function missingMounts(): string | undefined {
  return process.platform === 'linux' && process.getuid?.() === 0
    ? undefined
    : 'it mounts file systems, which needs root on Linux'
}

/**
 * A file system in an image whose power can be cut: the image holds what has reached the device, and nothing that
 * waits in memory, since the kernel is told to write by itself only every 300 s.
 */
export class Disk {
  readonly mount: string
  readonly #image: string
  #mounted = false

  constructor({ directory, defer }: Pick<Setting, 'directory' | 'defer'>, megabytes: number) {
    reachable(directory)
    this.mount = join(directory, 'disk')
    this.#image = join(directory, 'disk.img')
    mkdirSync(this.mount)
    must('truncate', ['-s', `${megabytes}M`, this.#image])
    must('mkfs.ext4', ['-q', '-F', this.#image])
    defer(() => this.#dispose())
    this.#attach()
    must('chmod', ['777', this.mount])
  }

  /** Everything is on the device from here on. */
  sync(): void {
    must('sync', ['-f', this.mount])
  }

  /** What would be found after a power cut now. Nothing may be writing: an image is not copied in an instant. */
  keep(): void {
    must('cp', ['--sparse=always', this.#image, `${this.#image}.kept`])
  }

  /** The device comes up again as it was kept. No process may use it any more. */
  restore(): void {
    this.#detach()
    renameSync(`${this.#image}.kept`, this.#image)
    this.#attach()
  }

  #dispose(): void {
    this.#detach()
    for (const file of [this.#image, `${this.#image}.kept`]) rmSync(file, { force: true })
  }

  #attach(): void {
    must('mount', ['-o', 'loop,commit=300', this.#image, this.mount])
    this.#mounted = true
  }

  #detach(): void {
    if (!this.#mounted) return
    unmount(this.mount)
    this.#mounted = false
  }
}

/** A file system in memory that is soon full. */
export class SmallDisk {
  readonly mount: string

  constructor({ directory, defer }: Pick<Setting, 'directory' | 'defer'>, megabytes: number) {
    reachable(directory)
    this.mount = join(directory, 'small')
    mkdirSync(this.mount)
    defer(() => unmount(this.mount))
    must('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', this.mount])
  }

  fill(): void {
    const ballast = join(this.mount, 'ballast')
    // Ends with an error when no byte is left, which is what is wanted.
    must('sh', ['-c', `cat /dev/zero >> ${ballast} 2>/dev/null || true`])
  }

  free(): void {
    rmSync(join(this.mount, 'ballast'), { force: true })
  }
}

/** PostgreSQL runs as a user of its own. */
function reachable(directory: string): void {
  must('chmod', ['755', directory])
}

/** What still ends may hold it for a moment. */
function unmount(mount: string): void {
  must('sh', [
    '-c',
    'for n in $(seq 100); do umount "$0" && exit 0; sleep 0.1; done 2>/dev/null; exit 1',
    mount,
  ])
}
