import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Problem } from '../api/ask.ts'
import { Dialog } from '../parts/dialog.tsx'

/** What every act carries. */
export interface Words {
  readonly reason: string
  /** One for each time that the dialog opens: pressing the button twice decides once. */
  readonly decision: string
  /** What the other fields of the dialog hold. */
  readonly fields: Readonly<Record<string, string>>
}

interface Props {
  readonly title: string
  /** What will happen, in a sentence. */
  readonly says: ComponentChildren
  /** What the button says: the act itself. */
  readonly act: string
  readonly isGrave?: boolean
  /** Fields beside the reason. */
  readonly children?: ComponentChildren
  /** @returns what came of it, for the page to tell */
  readonly onDecide: (words: Words) => Promise<string>
  readonly onDone: (told: string) => void
  readonly onClose: () => void
}

/** A dialog in which somebody decides: what will happen, why, and then what the server said. */
export function Decide({ title, says, act, isGrave, children, onDecide, onDone, onClose }: Props) {
  const decision = useMemo(newDecision, [])
  const [waits, setWaits] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const { reason = '', ...fields } = Object.fromEntries(
      [...form].map(([name, value]) => [name, String(value).trim()]),
    )
    setWaits(true)
    setProblem(undefined)
    try {
      onDone(await onDecide({ reason, decision, fields }))
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, 'internal', String(error)))
    } finally {
      setWaits(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="decide" onSubmit={submit}>
        <div class="says">{says}</div>
        {children}
        <Field
          name="reason"
          label="Reason"
          hint="In your own words; it goes into the audit log."
          maxLength={500}
        />
        {problem !== undefined && (
          <p class="notice is-problem" role="alert">
            {problem.message} <code>{problem.code}</code>
          </p>
        )}
        <footer>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isGrave ? 'button is-grave' : 'button is-main'} disabled={waits}>
            {act}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly maxLength?: number
  readonly optional?: boolean
  readonly value?: string
}

export function Field({ name, label, hint, maxLength, optional = false, value }: FieldProps) {
  const id = `decide-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        required={!optional}
        maxLength={maxLength}
        defaultValue={value}
        autocomplete="off"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Random, and there in pages without TLS too, unlike `crypto.randomUUID`. */
function newDecision(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
