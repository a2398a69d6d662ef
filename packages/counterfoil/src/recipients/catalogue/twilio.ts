import { entry } from './entry.ts'

export const twilio = entry({
  vendor: 'Twilio',
  contract: { correlation: { pointer: '/sid' } },
  about: {
    covers: 'sending messages and placing calls',
    sources: ['https://www.twilio.com/docs/errors/20500'],
    checked: '2026-12-01',
    unconfirmed: [],
    notSafe: [
      'Sending is not idempotent: a repeat after a 500 or a time-out may send twice, so an unknown outcome goes to a person, or to a lookup function of yours over the message list.',
    ],
  },
})
