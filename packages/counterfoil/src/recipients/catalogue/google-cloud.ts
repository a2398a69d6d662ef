import { entry } from './entry.ts'

export const googleCompute = entry({
  vendor: 'Google Cloud Compute Engine',
  contract: {
    idempotency: {
      query: 'requestId',
      format: { form: 'uuid' },
      remembersFor: '60m',
      otherPayload: 'unstated',
      replays: 'unstated',
    },
    correlation: { pointer: '/name' },
  },
  about: {
    covers: 'calls with a requestId; other Google Cloud APIs have one too, in places of their own',
    sources: [
      'https://cloud.google.com/ruby/docs/reference/google-cloud-compute-v1/latest/Google-Cloud-Compute-V1-ResumeInstanceRequest',
      'https://cloud.google.com/python/docs/reference/networkconnectivity/latest/google.cloud.networkconnectivity_v1.types.DeleteSpokeRequest',
    ],
    checked: '2026-12-01',
    unconfirmed: [
      '60 minutes for Compute Engine: they are promised by sister APIs in the same words',
      'that a UUID of version 5 is taken',
    ],
    notSafe: ['The answer is an operation that may still fail: confirmed means that Google has taken it on.'],
  },
})
