/** The name and its sign: a receipt that was torn along its perforation. */
export function Mark() {
  return (
    <span class="mark">
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <path d="M5 3h14v18l-2.330-1.700L14.330 21 12 19.300 9.670 21l-2.330-1.700L5 21z" />
        <path class="mark-lines" d="M8.500 8h7M8.500 12h4" />
      </svg>
      Counterfoil
    </span>
  )
}
