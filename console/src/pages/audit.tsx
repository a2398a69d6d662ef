import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { AuditVerification } from '../../../packages/counterfoil/src/operate/index.ts'
import type { AuditRecord } from '../../../packages/counterfoil/src/store/index.ts'
import { ask, type Problem } from '../api/ask.ts'
import { useAsked } from '../api/use-asked.ts'
import { Json } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { Page } from '../parts/page.tsx'
import { Pager } from '../parts/pager.tsx'
import { Rows } from '../parts/rows.tsx'
import { Exact } from '../parts/when.tsx'

const pageSize = 50

export function Audit() {
  const { query } = useLocation()
  const [told, setTold] = useState<{ good: boolean; words: string; digest?: string }>()
  const asked = useAsked<{ audit: AuditRecord[] }>(
    `/api/v1/audit?${new URLSearchParams({ limit: String(pageSize), ...query })}`,
  )
  const verify = async () => {
    try {
      const { rows, digest, broken } = await ask<AuditVerification>('/api/v1/audit/verify')
      setTold(
        broken === null
          ? { good: true, words: `The chain of ${rows} rows holds. Note its head somewhere else:`, digest }
          : { good: false, words: `The chain breaks at row ${broken.number}: ${broken.why}.` },
      )
    } catch (error) {
      setTold({ good: false, words: (error as Problem).message })
    }
  }
  const rows = asked.value?.audit ?? []
  return (
    <Page
      title="Audit"
      about="What operators did and why, each row chained to the one before."
      asked={asked}
      actions={
        <button type="button" class="button" onClick={verify}>
          Verify the chain
        </button>
      }
    >
      {told !== undefined && (
        <p class={told.good ? 'notice is-done' : 'notice is-problem'} role="status">
          {told.words} {told.digest !== undefined && <Id of={told.digest} label="head" />}
        </p>
      )}
      <Rows
        caption="Audit log"
        rows={rows}
        idOf={({ number }) => String(number)}
        columns={[
          { name: 'Row', isNumber: true, cell: ({ number }) => number },
          { name: 'When', cell: ({ at }) => <Exact at={at} /> },
          {
            name: 'Who',
            cell: ({ operator, role }) => (
              <>
                <b>{operator}</b> <span class="faint">{role}</span>
              </>
            ),
          },
          { name: 'Act', cell: ({ act }) => <code>{act}</code> },
          {
            name: 'To what and why',
            isWide: true,
            cell: ({ subject, reason, detail, result, decision, digest }) => (
              <details>
                <summary data-row>
                  <span class="said">{reason}</span> <Subject of={subject} />
                </summary>
                <Json of={{ subject, decision, detail, result, digest }} />
              </details>
            ),
          },
        ]}
        empty="No operator did anything yet."
      />
      <Pager next={rows.length === pageSize ? rows.at(-1)!.number : null} />
    </Page>
  )
}

const places: Readonly<Record<string, string>> = { qua: 'quarantine', eff: 'effects', rcp: 'receipts' }

function Subject({ of }: { readonly of: string }) {
  const place = places[of.slice(0, 3)]
  if (place === undefined || !/^[a-z]{3}_\w+$/.test(of)) return <code>{of}</code>
  return <a href={`/console/${place}/${of}`}>{of}</a>
}
