import type { Published } from '../publisher.ts'

/** Error replies that Redis gives before it carries a command out, by their first word (redis.io, RESP; redis.conf). */
const refusals: ReadonlySet<string> = new Set([
  'OOM', // no memory is left that the command may use
  'MISCONF', // it cannot write its snapshot and was told to stop then
  'READONLY', // a replica
  'NOREPLICAS', // fewer good replicas than it was told to have
  'MASTERDOWN',
  'LOADING',
  'BUSY', // a script is running
  'CLUSTERDOWN',
  'MOVED', // another node of a cluster has the stream
  'ASK',
  'TRYAGAIN',
  'CROSSSLOT',
  'NOPERM',
  'NOAUTH',
  'WRONGPASS',
  'WRONGTYPE', // the key holds something that is no stream
])

/** What a failed command proves. Of an error reply its first word alone is told. */
export function readFailure(error: unknown): Published {
  const { name = 'unknown', message = '' } = error instanceof Error ? error : {}
  const [word = ''] = message.split(' ')
  if (refusals.has(word)) return { kind: 'notActed', why: `Redis answered ${word}` }
  const known = /^[A-Z]{2,20}$/.test(word) ? word : name
  return { kind: 'unknown', why: `no plain answer came (${known})` }
}
