/**
 * What a `$1` cannot hide in: quoted text and names, dollar quotes, comments (postgresql.org/docs, 4.1). An `e'…'`
 * also knows a backslash.
 */
const opaque = [
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/,
  /'(?:[^']|'')*'/,
  /"(?:[^"]|"")*"/,
  /\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$/,
  /--[^\n]*/,
  /\/\*[\s\S]*?\*\//,
]
const token = new RegExp(`${opaque.map(({ source }) => source).join('|')}|\\$(\\d+)`, 'g')

/**
 * A PostgreSQL statement cut at its `$1`, for clients that number or quote parameters themselves: a text, a
 * parameter's index from 0, a text, and so on. It begins and ends with a text.
 */
export function cutAtPlaceholders(sql: string): (string | number)[] {
  const parts: (string | number)[] = []
  let begin = 0
  for (const match of sql.matchAll(token)) {
    const [whole, , number] = match
    if (number === undefined) continue
    parts.push(sql.slice(begin, match.index), Number(number) - 1)
    begin = match.index + whole.length
  }
  parts.push(sql.slice(begin))
  return parts
}
