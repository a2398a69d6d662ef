import { entry } from './entry.ts'

export const postmark = entry({
  vendor: 'Postmark',
  contract: { correlation: { pointer: '/MessageID' } },
  about: {
    covers: 'sending mail',
    sources: ['https://postmarkapp.com/developer/api/email-api'],
    checked: '2026-12-01',
    unconfirmed: ['everything: the page could not be read, and no key was found elsewhere'],
    notSafe: [
      'A repeat sends a second mail, so an unknown outcome goes to a person, or to a lookup function of yours.',
      'A batch answers 200 with an ErrorCode for each message: add rules, or send one at a time.',
    ],
  },
})
