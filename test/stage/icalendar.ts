import assert from 'node:assert/strict'

/** Asserts that a feed is valid by RFC 5545: lines, folds, and the properties of each entry. */
export function assertCalendar(feed: string): void {
  const lines = Buffer.from(feed).toString('latin1').split('\r\n')
  assert.equal(lines.pop(), '', 'the last line ends with CRLF')
  for (const line of lines) {
    assert.ok(line.length <= 75 && !line.includes('\n'), line)
    assert.ok(!Buffer.from(line, 'latin1').toString('utf8').includes('\uFFFD'), 'no fold within a character')
  }
  const unfolded = feed.replaceAll('\r\n ', '').trimEnd().split('\r\n')
  assert.equal(unfolded[0], 'BEGIN:VCALENDAR')
  assert.equal(unfolded.at(-1), 'END:VCALENDAR')
  assert.ok(unfolded.includes('VERSION:2.0'))
  assert.ok(unfolded.includes('REFRESH-INTERVAL;VALUE=DURATION:PT1H'))
  const [head = '', ...entries] = unfolded.join('\r\n').split('BEGIN:VEVENT\r\n')
  assert.match(head, /^PRODID:-\/\/Daybook\/\/[\w ]+\/\/EN\r$/m)
  for (const entry of entries) {
    for (const name of ['UID', 'SEQUENCE', 'DTSTAMP', 'DTSTART', 'SUMMARY']) {
      assert.equal(valuesOf(entry, name).length, 1, `an entry has one ${name}`)
    }
    assert.deepEqual(valuesOf(entry, 'DTEND'), [], 'an entry has no end')
  }
  const uids = valuesOf(feed, 'UID')
  assert.equal(new Set(uids).size, uids.length, 'identifiers are unique')
}

/** Values of a property in a feed, in order and unfolded. */
export function valuesOf(feed: string, name: string): readonly string[] {
  const unfolded = feed.replaceAll('\r\n ', '')
  return [...unfolded.matchAll(new RegExp(`^${name}:(.*)\r$`, 'gm'))].map(([, value = '']) => value)
}
