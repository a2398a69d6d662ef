import { entry } from './entry.ts'

export const sendgrid = entry({
  vendor: 'SendGrid',
  contract: { correlation: { header: 'X-Message-Id' } },
  about: {
    covers: 'sending mail',
    sources: ['https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send'],
    checked: '2026-12-01',
    unconfirmed: ['everything: the page could not be read, and no key was found elsewhere'],
    notSafe: [
      'A repeat sends a second mail, so an unknown outcome goes to a person, or to a lookup function of yours.',
      'A 202 says that the message is queued, not that it was delivered.',
    ],
  },
})
