import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Asked } from '../api/use-asked.ts'

interface Props {
  readonly title: string
  /** One line under the title: what this page answers. */
  readonly about?: ComponentChildren
  /** Shows how fresh the page is. */
  readonly asked?: Pick<Asked<unknown>, 'at' | 'problem' | 'value'>
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page: its heading takes the focus, so that whoever listens knows where they are. */
export function Page({ title, about, asked, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Counterfoil`
  }, [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <article class="page">
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about !== undefined && <p class="about">{about}</p>}
        </div>
        <div class="page-tools">
          {actions}
          {asked !== undefined && <Live {...asked} />}
        </div>
      </header>
      {asked?.problem !== undefined && (
        <ProblemNotice problem={asked.problem} stale={asked.value !== undefined} />
      )}
      {asked !== undefined && asked.value === undefined && asked.problem === undefined ? (
        <p class="faint loading">Asking the ledger …</p>
      ) : (
        children
      )}
    </article>
  )
}

function Live({ at, problem }: Pick<Asked<unknown>, 'at' | 'problem'>) {
  if (at === undefined) return null
  const time = new Date(at).toISOString().slice(11, 19)
  return (
    <span class={problem === undefined ? 'live' : 'live is-stale'} title="This page asks again by itself">
      {problem === undefined ? 'live' : 'stale'} · {time} UTC
    </span>
  )
}

function ProblemNotice({ problem, stale }: { problem: { message: string; code: string }; stale: boolean }) {
  return (
    <p class="notice is-problem" role="alert">
      {problem.message} <code>{problem.code}</code>
      {stale && ' What you see below is the last answer.'}
    </p>
  )
}
