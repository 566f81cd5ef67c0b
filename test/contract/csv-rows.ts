import assert from 'node:assert/strict'

/** Rows of a CSV by RFC 4180. Shares no code with the service. Refuses a line end other than CRLF. */
export function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (quoted && char === '"' && text[at + 1] === '"') {
      cell += '"'
      at++
    } else if (char === '"') {
      quoted = !quoted
    } else if (quoted || !/[,\r\n]/.test(char)) {
      cell += char
    } else {
      row.push(cell)
      cell = ''
      if (char === ',') continue
      assert.equal(text.slice(at, at + 2), '\r\n', 'a line ends with CRLF')
      at++
      rows.push(row)
      row = []
    }
  }
  assert.ok(row.length === 0 && cell === '' && !quoted, 'the last line has its end')
  return rows
}
