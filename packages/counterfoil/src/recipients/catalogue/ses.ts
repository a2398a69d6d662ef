import { entry } from './entry.ts'

export const ses = entry({
  vendor: 'Amazon SES',
  contract: { correlation: { pointer: '/MessageId' } },
  about: {
    covers: 'sending mail',
    sources: ['https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html'],
    checked: '2026-12-01',
    unconfirmed: ['everything: the page could not be read, and no key was found elsewhere'],
    notSafe: [
      'A repeat sends a second mail, so an unknown outcome goes to a person, or to a lookup function of yours.',
      'Accepted is not delivered: bounces come by notification.',
    ],
  },
})
