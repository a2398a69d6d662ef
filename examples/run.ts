/** Plays one example: `npm run example NAME`; without a name it lists them. */
import { readdirSync } from 'node:fs'
import type { Say } from './stage.ts'

export const examples: readonly string[] = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** @throws when the story does not come to its end */
export async function playExample(name: string, say: Say): Promise<void> {
  const { play } = (await import(`./${name}/main.ts`)) as { play: (say: Say) => Promise<void> }
  await play(say)
}

if (import.meta.main) {
  const [, , name = ''] = process.argv
  if (examples.includes(name)) {
    await playExample(name, console.log)
  } else {
    console.log(`npm run example NAME, with one of: ${examples.join(', ')}`)
    process.exitCode = name === '' ? 0 : 2
  }
}
