import type { Kind } from '../kind.ts'
import { kill } from './kill.ts'

export const kinds: readonly Kind[] = [kill]
