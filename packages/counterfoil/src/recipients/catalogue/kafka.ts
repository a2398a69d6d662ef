import { entry } from './entry.ts'

export const kafka = entry({
  vendor: 'Apache Kafka',
  contract: {},
  about: {
    covers: 'producing records',
    sources: ['https://kafka.apache.org/documentation/#producerconfigs_enable.idempotence'],
    checked: '2026-12-01',
    unconfirmed: ['the page could not be read; this is what the protocol is known to do'],
    notSafe: [
      'An idempotent producer recognises its own retries within one session only: after a restart a repeat is a second record. Put the idempotency key into the record and let its reader compare.',
      'An unknown outcome goes to a person, or to a lookup function that reads the partition.',
    ],
  },
})
