export { contractInWords } from './contract-in-words.ts'
export { type StoryLine, type ToldEffect, tell } from './story.ts'
export { type UnsupportedType, unsupportedTypes } from './unsupported.ts'
