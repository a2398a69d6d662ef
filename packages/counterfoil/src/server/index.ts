export { type Server, type ServeOptions, serve } from './server.ts'
