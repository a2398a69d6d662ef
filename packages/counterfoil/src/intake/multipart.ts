import { isUtf8 } from 'node:buffer'
import type { JsonReading } from '../domain/index.ts'
import { Fields, maxFields } from './form.ts'

/** A file of a multipart form, as the payload has it: the bytes in base64. */
type FileField = { readonly filename: string; readonly contentType: string; readonly base64: string }

/**
 * A multipart form (RFC 7578) as an object of fields, read by the platform's own parser. Text that is not UTF-8
 * cannot be represented: the parser would replace it.
 *
 * @param mediaType with its boundary, see `acceptedType`
 */
export async function readMultipart(mediaType: string, body: Uint8Array): Promise<JsonReading> {
  let form: FormData
  try {
    const headers = { 'content-type': mediaType }
    form = await new Response(body as Uint8Array<ArrayBuffer>, { headers }).formData()
  } catch {
    return { kind: 'syntax', message: 'the body is no multipart form', offset: 0 }
  }
  const replaced = isUtf8(body) ? null : '\ufffd'
  const fields = new Fields<string | FileField>()
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? `${name}${value}` : `${name}${value.name}`
    if (replaced !== null && text.includes(replaced)) {
      return { kind: 'notRepresentable', why: 'a field of the form is not UTF-8', path: '' }
    }
    if (!fields.add(name, typeof value === 'string' ? value : await toField(value))) {
      return { kind: 'syntax', message: `the form has more than ${maxFields} fields`, offset: 0 }
    }
  }
  return fields.reading()
}

async function toField(file: File): Promise<FileField> {
  const bytes = Buffer.from(await file.arrayBuffer())
  return { filename: file.name, contentType: file.type, base64: bytes.toString('base64') }
}
