import { Dialog } from '../parts/dialog.tsx'
import { places } from './navigation.tsx'

export function Shortcuts({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  if (!open) return null
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        <Key keys={['/']} does="search" />
        <Key keys={['j']} does="next row" />
        <Key keys={['k']} does="row before" />
        <Key keys={['Enter']} does="open the row" />
        <Key keys={['Esc']} does="close what is open" />
        {places.map(({ key, name }) => (
          <Key key={name} keys={['g', key]} does={`go to ${name.toLowerCase()}`} />
        ))}
      </dl>
    </Dialog>
  )
}

function Key({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  )
}
