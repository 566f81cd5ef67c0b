import { DAY_MS, floorTo, type Month, monthOf, type Ms, msOf, parseMonth } from '../../../protocol/moment.ts'

/** Time in a text: a month, a UTC day by its first moment, or a moment within a day. */
type SpokenTime = Readonly<{ is: 'month'; month: Month } | { is: 'day' | 'moment'; from: Ms }>

/** Names of months and weekdays. A text may have the first three letters of one, or more. */
const NAMES =
  'january february march april may june july august september october november december ' +
  'monday tuesday wednesday thursday friday saturday sunday'
const NEAR = ['yesterday', 'today', 'tomorrow']
const YEARS_NEAR = [-1, 0, 1]

/**
 * Times in a text, in UTC, in the forms of pages and in common use: `28 Oct 2026, 14:00 UTC`, `October 2026`,
 * `yesterday`, `15/11/2026`. A date without a year is the one nearest to `now`. A month without one is the newest that
 * has begun. Two days if day and month can be swapped, such as `2/10/2026`; none for anything else.
 */
export function spokenTimes(text: string, now: Ms): readonly SpokenTime[] {
  const slashed = text.replace(/^(\d{1,4})([-.])(\d{1,2})\2(?=\d)/, '$1/$3/')
  const dayFirst = slashed.replace(/^(\d{1,2})\/(\d{1,2})\/(?=\d{4})/, '$2/$1/')
  // A date with points has its day first.
  const readings = new Set(text.includes('.') ? [dayFirst] : [dayFirst, slashed])
  return [...readings].map((one) => spokenTime(one, now)).filter((time) => time !== undefined)
}

/** Time in a text. Reads the month of `10/2/2026` first. */
function spokenTime(text: string, now: Ms): SpokenTime | undefined {
  const words = text
    .toLowerCase()
    .replace(/ utc$/, '')
    .replace(/^(?:yesterday|today|tomorrow)\b/, (near) => dateOf(now + (NEAR.indexOf(near) - 1) * DAY_MS))
    .replaceAll(/(\d)(?:st|nd|rd|th)\b/g, '$1')
    .replaceAll(/[,.\s]+/g, ' ')
    .trim()
  const isNamed = (words.match(/[a-z]+/g) ?? []).every(
    (word) => word.length > 2 && ` ${NAMES}`.includes(` ${word}`),
  )
  if (!isNamed || !/^[a-z\d :/-]+$/.test(words)) return undefined
  const [, month, year] = /^([a-z]+)(?: (\d{4}))?$/.exec(words) ?? []
  if (month !== undefined) return monthNamed(month, year, now)
  const hasYear = /\d{4}/.test(words)
  // `5-6` may be a title.
  if (!hasYear && !/[a-z]/.test(words)) return undefined
  const years = hasYear ? [''] : YEARS_NEAR.map((apart) => ` ${new Date(now).getUTCFullYear() + apart}`)
  const [, date = '', clock = ''] =
    /^([^:]*[a-z/-][^:]*?)(?: (\d{1,2}:\d{2}(?::\d{2})?)(?: \d{3})?)?$/.exec(words) ?? []
  const [nearest] = years
    .map((own) => Date.parse(`${date}${own} ${clock} UTC`))
    .filter(
      (ms) =>
        ms >= 0 && isDateOf(`${date}${years.length > 1 ? ` ${new Date(ms).getUTCFullYear()}` : ''}`, ms),
    )
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now))
  if (nearest === undefined) return undefined
  return { is: clock === '' ? 'day' : 'moment', from: msOf(nearest) }
}

/** Whether a date has the numbers of a moment. The parser takes 31 November as the first day of December. */
function isDateOf(date: string, ms: number): boolean {
  const at = new Date(ms)
  const month = /[a-z]/.test(date) ? [] : [at.getUTCMonth() + 1]
  const numbers = [at.getUTCFullYear(), ...month, at.getUTCDate()]
  const said = (date.match(/\d+/g) ?? []).map(Number)
  return said.toSorted((a, b) => a - b).join() === numbers.toSorted((a, b) => a - b).join()
}

function dateOf(ms: number): string {
  return new Date(floorTo(msOf(ms), DAY_MS)).toISOString().slice(0, 10)
}

function monthNamed(name: string, year: string | undefined, now: Ms): SpokenTime | undefined {
  const number = NAMES.split(' ').findIndex((one) => one.startsWith(name)) + 1
  const digits = String(number).padStart(2, '0')
  const present = monthOf(now)
  const own = Number(present.slice(0, 4)) - (digits > present.slice(5) ? 1 : 0)
  const month = parseMonth(`${year ?? own}-${digits}`)
  return month === undefined ? undefined : { is: 'month', month }
}
