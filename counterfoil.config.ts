// What the command line takes when no --config is given: in this checkout, the demo.
export { default } from './demo/counterfoil.config.ts'
