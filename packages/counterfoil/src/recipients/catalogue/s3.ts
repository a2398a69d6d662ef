import { entry } from './entry.ts'

export const s3Create = entry({
  vendor: 'Amazon S3, creating an object',
  contract: { ordering: { conditional: { header: 'If-None-Match', rejectedWith: 412 } } },
  about: {
    covers: 'PutObject and CompleteMultipartUpload with If-None-Match: *',
    sources: ['https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html'],
    checked: '2026-12-01',
    unconfirmed: [],
    notSafe: [
      'A 412 on a repeat does not tell whose object is there: read it, or let a person decide.',
      'If somebody deletes the object in between, a repeat writes it again.',
    ],
  },
})

export const s3Replace = entry({
  vendor: 'Amazon S3, replacing an object',
  contract: { ordering: { conditional: { header: 'If-Match', rejectedWith: 412 } } },
  about: {
    covers: 'PutObject and CompleteMultipartUpload with If-Match: ETAG',
    sources: ['https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html'],
    checked: '2026-12-01',
    unconfirmed: [],
    notSafe: [
      'A 412 on a repeat does not tell whether an earlier attempt or somebody else replaced the object.',
      'An object that is put back to its old content has its old ETag again.',
    ],
  },
})
