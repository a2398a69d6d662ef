import { readFile, rename, writeFile } from 'node:fs/promises'
import { type Contract, CounterfoilError, checkContract } from '../domain/index.ts'
import { nameOf } from './error-name.ts'
import { readContract } from './read-contract.ts'

/**
 * The contract that was kept last; null when none was.
 *
 * @throws CounterfoilError `config_invalid` for a file that is there and is none: it is what people may have edited
 */
export async function readKept(file: string): Promise<Contract | null> {
  const refuse = (why: string): never => {
    throw new CounterfoilError('config_invalid', `The kept contract '${file}' is no contract: ${why}.`, {
      hint: 'Restore it, or remove it and start while the service can be asked.',
    })
  }
  let bytes: Uint8Array
  try {
    bytes = await readFile(file)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    return refuse(`it cannot be read (${nameOf(error)})`)
  }
  const reading = readContract(bytes)
  if (reading.kind === 'refused') return refuse(reading.why.replace('the answer', 'it'))
  try {
    checkContract(file, reading.contract)
  } catch (error) {
    refuse((error as Error).message)
  }
  return reading.contract
}

/**
 * Keeps a contract where it is another than the kept one, so that a file in version control changes only with it.
 *
 * @returns null, or the name of the error that kept it from being written: that is no reason not to start
 */
export async function keepContract(
  file: string,
  contract: Contract,
  kept: Contract | null,
): Promise<string | null> {
  if (kept !== null && JSON.stringify(kept) === JSON.stringify(contract)) return null
  const next = `${file}.${process.pid}.next`
  try {
    await writeFile(next, `${JSON.stringify(contract, null, 2)}\n`)
    await rename(next, file)
    return null
  } catch (error) {
    return nameOf(error)
  }
}
