/**
 * Text of strangers, fit to be shown: a character that is not printable ASCII becomes `\u{HEX}`. So one that
 * looks like another, that cannot be seen or turns the direction of a line is seen for what it is, and none
 * speaks to a terminal.
 *
 * @param own characters that we write ourselves, as a list
 */
export function printable(text: string, own = ''): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, (character) =>
    own.includes(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** Whether a text is one line that says something: no control characters, whole code points. */
export function isLine(text: unknown, longest: number): text is string {
  return (
    typeof text === 'string' &&
    text.trim() !== '' &&
    text.length <= longest &&
    !/\p{Cc}/u.test(text) &&
    text.isWellFormed()
  )
}
