import { entry } from './entry.ts'

export const smtp = entry({
  vendor: 'SMTP',
  contract: {},
  about: {
    covers: 'sending mail through a server of your own choice, with a call function',
    sources: [
      'https://www.rfc-editor.org/rfc/rfc5321#section-4.5.4.1',
      'https://www.rfc-editor.org/rfc/rfc1047',
    ],
    checked: '2026-12-01',
    unconfirmed: ['that your server does not recognise a repeated Message-ID: some do, and none promises it'],
    notSafe: [
      'If the connection ends between the final dot and the 250, nobody knows whether the mail was taken, and no server recognises the repeat (RFC 1047). Such an outcome goes to a person.',
    ],
  },
})
