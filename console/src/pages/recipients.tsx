import type { ShownRecipient } from '../../../packages/counterfoil/src/operate/index.ts'
import { useAsked } from '../api/use-asked.ts'
import { Facts, Json } from '../parts/facts.tsx'
import { Outcomes } from '../parts/outcomes.tsx'
import { Page } from '../parts/page.tsx'
import { lengthOf, When } from '../parts/when.tsx'
import { Health } from './overview.tsx'

export function Recipients() {
  const asked = useAsked<{ recipients: ShownRecipient[] }>('/api/v1/recipients')
  return (
    <Page
      title="Recipients"
      about="What each far side promises, and what the engine does because of it."
      asked={asked}
    >
      <ol class="cards">
        {asked.value?.recipients.map((one) => (
          <li key={one.recipient} id={one.recipient} class="card">
            <header>
              <h2>{one.recipient}</h2>
              <Health of={one.health} />
              <span class="faint">{one.place}</span>
            </header>
            <div class="columns">
              <section>
                <h3>What follows from its contract</h3>
                <ul class="words">
                  {one.inWords.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
                <details>
                  <summary>The contract as it is written</summary>
                  <Json of={one.contract} />
                </details>
              </section>
              <section>
                <h3>How it does</h3>
                <Facts
                  of={[
                    ['newest attempts', <Outcomes key="recent" of={one.recent} />],
                    ['last confirmed', <When key="last" at={one.lastConfirmedAt} />],
                    ['planned', one.open.planned.count],
                    ['in flight', one.open.attempting.count],
                    ['unknown', one.open.unknown.count],
                    ['time-out', lengthOf(one.timeoutMs)],
                    ['at once', `${one.concurrency} from one process`],
                    ['limits', one.limits === null ? null : JSON.stringify(one.limits)],
                  ]}
                />
              </section>
            </div>
          </li>
        ))}
      </ol>
    </Page>
  )
}
