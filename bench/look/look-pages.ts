/** Paths to look at: every page of the sitemap without contests, one contest, one payment, one month. */
export async function pagesToLook(url: string): Promise<readonly string[]> {
  const sitemap = await textAt(`${url}/sitemap.xml`)
  const paths = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, at = '']) => new URL(at).pathname)
  const pages = paths.filter((path) => !path.startsWith('/contests/') && !/\.\w+$/.test(path))
  return [...pages, ...(await examples(url))]
}

/** Pages with a variable part: the newest contest that owes prizes, the newest payment, the last closed month. */
async function examples(url: string): Promise<readonly string[]> {
  const { contests } = await answerAt<{ contests: readonly { id: number }[] }>(url, 'contests?status=paying')
  const newest = 'events?type=payout&order=desc&limit=1'
  const { events } = await answerAt<{ events: readonly { seq: number }[] }>(url, newest)
  const { months } = await answerAt<{ months: readonly Month[] }>(url, 'archive')
  const last = months.findLastIndex(({ state }) => state === 'closed')
  const [month, next] = months.slice(last)
  return [
    ...contests.slice(0, 1).map(({ id }) => `/contests/${id}/ledger`),
    ...events.map(({ seq }) => `/events/${seq}`),
    ...(month === undefined || next === undefined ? [] : [monthOfFlows(month, next)]),
  ]
}

type Month = Readonly<{ month: string; state: 'open' | 'closed' }>

function monthOfFlows({ month: from }: Month, { month: to }: Month): string {
  return `/flows?from=${from}-01&to=${to}-01`
}

async function answerAt<T>(url: string, question: string): Promise<T> {
  return JSON.parse(await textAt(`${url}/api/v1/${question}`)) as T
}

async function textAt(url: string): Promise<string> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  return response.text()
}
