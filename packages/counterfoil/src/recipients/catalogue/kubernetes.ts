import { entry } from './entry.ts'

export const kubernetesCreate = entry({
  vendor: 'Kubernetes, creating an object',
  contract: {
    ordering: { conditional: { pointer: '/metadata/name', rejectedWith: 409 } },
    correlation: { pointer: '/metadata/uid' },
  },
  about: {
    covers: 'POST of an object with metadata.name',
    sources: ['https://kubernetes.io/docs/reference/using-api/api-concepts/'],
    checked: '2026-12-01',
    unconfirmed: ['the page could not be read; the 409 was seen in public reports'],
    notSafe: [
      'A 409 on a repeat does not tell who made the object of that name.',
      'If it is deleted in between, a repeat makes it again. generateName makes a new one every time.',
    ],
  },
})

export const kubernetesUpdate = entry({
  vendor: 'Kubernetes, updating an object',
  contract: {
    ordering: { conditional: { pointer: '/metadata/resourceVersion', rejectedWith: 409 } },
    correlation: { pointer: '/metadata/resourceVersion' },
  },
  about: {
    covers: 'PUT of an object with metadata.resourceVersion',
    sources: ['https://kubernetes.io/docs/reference/using-api/api-concepts/'],
    checked: '2026-12-01',
    unconfirmed: ['the page could not be read; the 409 was seen in public reports'],
    notSafe: [
      'A 409 on a repeat does not tell whether an earlier attempt or somebody else changed the object.',
    ],
  },
})
