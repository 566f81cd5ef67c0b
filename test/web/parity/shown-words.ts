import assert from 'node:assert/strict'

// Words that pages may write in place of a value: cut amounts, moments as people write them, kinds and states in words.
// Written anew here, from the design, so that a wrong page is noticed.

/** Fails unless a text is an amount as it is, cut and never rounded, or cut to hundredths of a million. */
export function assertAmount(shown: string, hidden: string, value: string): void {
  const whole = `${shown}${hidden}`.replaceAll(',', '')
  const [, sign = '', digits = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  assert.ok(digits !== '', `${value} is a decimal figure`)
  const commas = Number(digits) >= 1_000 && digits.length <= 15
  if (commas)
    assert.ok(`${shown}${hidden}`.includes(Number(digits).toLocaleString('en')), `${shown} has commas`)
  const millions = /^(-?)([\d,]+)\.(\d\d) million$/.exec(shown)
  if (millions !== null) {
    assert.equal(hidden.replaceAll(',', ''), value, 'the whole amount is there too')
    const hundredths = BigInt(`${millions[2]?.replaceAll(',', '')}${millions[3]}`)
    assert.equal(hundredths, BigInt(digits) / 10_000n, `${shown} is ${value} cut`)
    assert.equal(millions[1], sign)
    return
  }
  assert.equal(whole, value, 'an amount and its hidden decimals are the figure')
  const cut = shown.replaceAll(',', '')
  if (Number(cut) === 0) assert.ok(Number(value) === 0, `${value} is not shown as nothing`)
  // An amount from a hundred on is whole; what is below has its decimals.
  const places = cut.split('.')[1]?.length ?? 0
  if (hidden !== '' && Number(digits) < 100 && Number(value) !== 0)
    assert.ok(places >= 2, `${shown} has decimals`)
  assert.ok(decimals.startsWith(cut.split('.')[1] ?? ''), 'cut')
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const DAYS = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Fails unless a text is a moment as people write it, at the present of the page. */
export function assertMoment(text: string, at: string, form: string, present: string | undefined): void {
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-')
  const date = `${Number(day)} ${MONTHS[Number(month) - 1]}`
  const clock = at.slice(11, 16)
  const always = [`${date} ${year} ${at.slice(11, 19)} UTC`, `${date} ${year}`, `${date} ${year} ${clock}`]
  if (text === at) return
  if (form === 'monthname') {
    assert.equal(`${text.slice(0, 3)} ${text.split(' ')[1]}`, `${MONTHS[Number(month) - 1]} ${year}`)
    return
  }
  if (form === 'exact') {
    const named = new Date(at).toLocaleString('en', { timeZone: 'UTC', weekday: 'long' })
    const long = new Date(at).toLocaleString('en', { timeZone: 'UTC', month: 'long' })
    assert.equal(text, `${named} ${Number(day)} ${long} ${year}, ${at.slice(11, 23)}`)
    return
  }
  if (form === '' || form === 'day' || form === 'minute') {
    assert.ok(always.includes(text), `${text} is ${at}`)
    return
  }
  if (form === 'hour') {
    assert.equal(text, `${clock} UTC`)
    return
  }
  const starts: Readonly<Record<string, string>> = {
    weekday: `${DAYS[new Date(at).getUTCDay()]} ${date}`,
    slot: `${date} ${clock}`,
    month: `${MONTHS[Number(month) - 1]} ${year}`,
  }
  if (form in starts) {
    assert.equal(text, starts[form], `the bucket of ${at}`)
    return
  }
  assert.ok(present !== undefined, `${text} is for a present that the page states`)
  const between = Date.parse(at) - Date.parse(present)
  if (form === 'until' || form === 'span') {
    const words = lengthWords(Math.abs(between))
    const [near, said] =
      form === 'span'
        ? [false, words]
        : [Math.abs(between) < MINUTE_MS, between > 0 ? `in ${words}` : `${words} ago`]
    assert.equal(text, near ? 'now' : said, `${at} at ${present}`)
    return
  }
  const far = present.startsWith(year) ? date : `${date} ${year}`
  const days = Date.parse(at.slice(0, 10)) / DAY_MS - Date.parse(present.slice(0, 10)) / DAY_MS
  const written: Readonly<Record<string, string>> = {
    dayname: `${DAYS[new Date(at).getUTCDay()]}`,
    short: far,
    cell: `${far} ${clock}`,
    clock: `${far} ${clock} UTC`,
    near: days < -1 ? far : `${far} ${clock} UTC`,
  }
  assert.equal(text, written[form], `${at} at ${present}`)
}

/** A length of time as people write it, with two units at most. */
export function lengthWords(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  const [days, hours, rest] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60]
  if (days >= 2) return `${days} days`
  const units = [days > 0 ? `${days} d` : '', hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : '']
  const [first = '0 min', second = ''] = days > 0 ? units.slice(0, 2) : units.filter((unit) => unit !== '')
  return second === '' ? first : `${first} ${second}`
}

/** Words for each kind that has words of its own. */
const KIND_WORDS: Readonly<Record<string, RegExp>> = {
  winner: /^(?:the )?winner$/i,
  runner_up: /^(?:a runner-up|runners-up)$/i,
  second: /^(?:the )?second$/i,
  third: /^(?:the )?third$/i,
  voter_share: /^(?:a voter|voters)$/i,
  daily: /^(?:a winner|winners) of the day$/i,
  lucky_draw: /^(?:the )?lucky draw$|^a winner of the lucky draw$/i,
  refund: /^(?:a player|players|given back to players)$/i,
  loyalty: /^loyal players$/i,
  play_share: /^(?:(?:a )?share of play|from what was played)$/i,
  top_up: /^(?:(?:the )?treasury|topped up by the platform)$/i,
  sponsor: /^(?:a sponsor|sponsors)$/i,
  returned: /^(?:(?:the )?treasury|returned to the treasury)$/i,
  platform_income: /^platform income$/i,
}

/** Fails unless a text says this kind. */
export function assertKind(text: string, kind: string): void {
  const own = Object.hasOwn(KIND_WORDS, kind) ? KIND_WORDS[kind] : undefined
  if (own === undefined) assert.equal(text.toLowerCase(), kind.replaceAll(/_+/g, ' ').trim())
  else assert.match(text, own)
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  upcoming: 'to come',
  running: 'running',
  paying: 'paying',
  paid: 'paid in full',
  cancelled: 'cancelled',
  owing: 'prizes owed',
  lapsed: 'prizes never claimed',
  locked: 'locked',
  in_review: 'in review',
  awaiting_claim: 'to be claimed|to ask for it',
  payable: 'payable|can be paid now|to pay it',
  overpaid: 'overpaid',
  open: 'open',
  closed: 'closed',
  cosigning: 'signs',
  silent: 'does not answer',
  refusing: 'refuses to sign',
  unasked: 'not asked yet',
}

/** Fails unless a text says this state. */
export function assertState(text: string, state: string): void {
  const words = STATE_WORDS[state]?.split('|') ?? []
  assert.ok(words.includes(text.toLowerCase()), `${text} is the state ${state} in words`)
}

/** Characters at each end of a transaction that is shown short, and the longest one that is shown whole. */
const TX_ENDS = 4
const TX_WHOLE_MAX = 12

/** Fails unless a link has the ends of a transaction, leads to it, or to its event, and a button copies all of it. */
export function assertTransaction(text: string, href: string, tx: string): void {
  const short = tx.length > TX_WHOLE_MAX ? `${tx.slice(0, TX_ENDS)}…${tx.slice(-TX_ENDS)}` : tx
  assert.equal(text, short, 'the ends of the transaction')
  assert.ok(href.includes(encodeURIComponent(tx)), 'the link leads to the transaction')
}
