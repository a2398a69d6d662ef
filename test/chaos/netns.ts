import { spawnSync } from 'node:child_process'
import { must } from '../../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { debianProgram } from '../../packages/counterfoil/src/testing/debian-program.ts'
import type { Setting } from './kind.ts'

/** Why this machine cannot have networks of its own, or undefined. */
export function missingNetworks(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'it makes network namespaces, which needs root on Linux'
  return debianProgram('iptables', 'iptables') === undefined ? 'it has no iptables' : undefined
}

/**
 * Machines on a switch: network namespaces of the kernel, and a bridge to which this process has an address too.
 * Packets between them can be dropped, so that nobody is told that a connection is gone.
 */
export class Switch {
  /** Of this machine, as the others reach it. */
  readonly address: string
  readonly #machines: readonly string[]
  readonly #subnet: string

  constructor({ defer, servers }: Pick<Setting, 'defer' | 'servers'>) {
    const name = `cf${process.pid.toString(36)}`
    this.#subnet = `10.213.${process.pid % 256}`
    this.address = `${this.#subnet}.1`
    this.#machines = Array.from({ length: servers }, (_, index) => `${name}-${index}`)
    const bridge = `${name}-b`
    defer(() => spawnSync('ip', ['link', 'del', bridge]))
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('addr', 'add', `${this.address}/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    for (const [index, machine] of this.#machines.entries()) {
      // The end of its cable goes with it.
      defer(() => spawnSync('ip', ['netns', 'del', machine]))
      ip('netns', 'add', machine)
      ip('link', 'add', machine, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', machine)
      ip('link', 'set', machine, 'master', bridge, 'up')
      ip('-n', machine, 'addr', 'add', `${this.addressOf(index)}/24`, 'dev', 'eth0')
      for (const device of ['eth0', 'lo']) ip('-n', machine, 'link', 'set', device, 'up')
    }
  }

  addressOf(index: number): string {
    return `${this.#subnet}.${10 + index}`
  }

  /** The command that runs another one on this machine. */
  on(index: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#machines[index]!]
  }

  /** Drops what goes to a port of ours and what comes from it; without one, everything. */
  drop(index: number, port: number | undefined): void {
    const [from, to] =
      port === undefined
        ? [[], []]
        : [
            ['--sport', `${port}`],
            ['--dport', `${port}`],
          ]
    const tcp = port === undefined ? [] : ['-p', 'tcp']
    this.#rule(index, ['-A', 'INPUT', ...tcp, ...from, '-j', 'DROP'])
    this.#rule(index, ['-A', 'OUTPUT', ...tcp, ...to, '-j', 'DROP'])
  }

  heal(index: number): void {
    this.#rule(index, ['-F'])
  }

  #rule(index: number, words: readonly string[]): void {
    const [program, ...rest] = [...this.on(index), 'iptables', '-w', ...words]
    must(program!, rest)
  }
}

function ip(...words: string[]): void {
  must('ip', words)
}
