import { join, resolve } from 'node:path'

/** Where the demo keeps its files and finds its recipient. The environment may move each. */

const chosen = process.env.COUNTERFOIL_DEMO_DIR

/** Holds the ledger, the workshop's journal and the logs. They belong together: move or delete all of them at once. */
export const directory =
  chosen === undefined || chosen === '' ? join(import.meta.dirname, '../.counterfoil') : resolve(chosen)

export const ledgerFile = join(directory, 'counterfoil.db')

export const defaultPorts = { server: 4840, workshop: 4841 }

export const workshopUrl =
  process.env.COUNTERFOIL_DEMO_RECIPIENT ?? `http://127.0.0.1:${defaultPorts.workshop}`
