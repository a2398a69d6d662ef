import { config, form, hmac, json, type Made, now } from './made.ts'

const gitHub = (body: string, type: object = json) => ({
  headers: {
    ...type,
    'X-GitHub-Delivery': '8a9d1d5e-0000-4000-8000-000000000001',
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': `sha256=${hmac(body, 'hex')}`,
  },
  body,
})

const docusignBody = JSON.stringify({
  event: 'envelope-completed',
  apiVersion: 'v2.1',
  retryCount: 0,
  configurationId: 1,
  generatedDateTime: '2026-01-01T00:00:00.0000000Z',
  data: { accountId: 'acc-1', envelopeId: 'env-1' },
})

const linearBody = JSON.stringify({
  action: 'create',
  type: 'Issue',
  organizationId: 'org-1',
  createdAt: '2026-01-01T00:00:00.000Z',
  data: { id: 'issue-1' },
  webhookTimestamp: now * 1000,
  webhookId: 'hook-1',
})

export const records: Readonly<Record<string, readonly Made[]>> = {
  docusign: [
    {
      why: 'the second of two signatures is under our key',
      config,
      headers: {
        ...json,
        'X-DocuSign-Signature-1': hmac(docusignBody, 'base64', 'another'),
        'X-DocuSign-Signature-2': hmac(docusignBody, 'base64'),
      },
      body: docusignBody,
      events: [
        {
          id: 'envelope-completed/2026-01-01T00:00:00.0000000Z/env-1',
          source: 'acc-1',
          type: 'envelope-completed',
          version: 'v2.1',
        },
      ],
    },
  ],
  github: [
    {
      why: 'JSON',
      config,
      ...gitHub('{"ref":"refs/heads/main"}'),
      events: [{ id: '8a9d1d5e-0000-4000-8000-000000000001', source: 'github', type: 'push' }],
    },
    {
      why: 'JSON in a form',
      config,
      ...gitHub('payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%7D', form),
      events: [{ id: '8a9d1d5e-0000-4000-8000-000000000001', source: 'github', type: 'push' }],
    },
  ],
  linear: [
    {
      why: 'an issue',
      config,
      headers: { ...json, 'Linear-Delivery': 'lin-1', 'Linear-Signature': hmac(linearBody, 'hex') },
      body: linearBody,
      events: [{ id: 'lin-1', source: 'org-1', type: 'Issue.create' }],
    },
  ],
}
