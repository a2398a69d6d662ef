export { giveWay } from '../engine/index.ts'
