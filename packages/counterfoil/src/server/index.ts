export { type ServeOptions, type Server, serve } from './server.ts'
