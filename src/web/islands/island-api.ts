/**
 * Script of the reference. A form shows its answer below, with status, size and time. A stream is shown as it arrives.
 */
import { piecesOf } from '../../client/body.ts'
import './island-still.ts'

/** Length from which an answer is shown in part: its start, or the end of a stream. */
const SHOWN_CHARS_MAX = 20_000

/**
 * Parts of the line about an answer. HTTP/2 has no status text, and not every answer reports the remaining requests.
 */
function headOf({ status, statusText, headers }: Response): Readonly<{ head: string; left: string }> {
  const [, count = ''] = /;r=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? []
  const left = count === '' ? '' : `${count} ${count === '1' ? 'request' : 'requests'} left`
  return { head: `${status} ${statusText}`.trim(), left }
}

/** Starts a form. The element after it shows the answer. */
function startAsking(form: HTMLFormElement): void {
  const place = form.nextElementSibling
  const output = place?.querySelector('output')
  const page = place?.querySelector('a')
  const [curl, stop] = place?.querySelectorAll('button') ?? []
  const pane = place?.querySelector('pre')
  const shown = pane?.firstElementChild
  if (!(place instanceof HTMLElement && output && page && curl && stop && pane && shown)) return
  let gone = new AbortController()

  /** Sends the request and shows the answer until it ends or the signal aborts. */
  const ask = async ({ signal }: AbortController): Promise<void> => {
    const began = performance.now()
    let [about, text, bytes] = [{ head: '', left: '' }, '', 0]
    const say = (how: string): void => {
      const ms = Math.round(performance.now() - began)
      output.value = [about.head, how, `${bytes} bytes`, `${ms} ms`, about.left].filter(Boolean).join(' · ')
    }
    try {
      const fields = [...new FormData(form)].flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      )
      // `/api` redirects to the URL of the request.
      const answer = await fetch(`/api?${new URLSearchParams(fields)}`, { signal })
      const { url, headers, body } = answer
      const path = url.slice(location.origin.length)
      curl.dataset['copyCurl'] = path
      const type = headers.get('Content-Type') ?? ''
      const isStream = /event/.test(type)
      page.href = path.replace('/api/v1', '')
      about = headOf(answer)
      say('loading')
      const decoder = new TextDecoder()
      for await (const piece of piecesOf(body ?? new ReadableStream())) {
        bytes += piece.length
        text += decoder.decode(piece, { stream: true })
        text = isStream ? text.slice(-SHOWN_CHARS_MAX) : text.slice(0, SHOWN_CHARS_MAX)
        // A reader who has scrolled back stays there.
        const isAtEnd = pane.scrollTop + pane.clientHeight + 9 > pane.scrollHeight
        shown.textContent = text
        if (isStream && isAtEnd) pane.scrollTop = pane.scrollHeight
      }
      const isWhole = text.length < SHOWN_CHARS_MAX
      if (isWhole && /json/.test(type)) shown.textContent = JSON.stringify(JSON.parse(text), null, 2)
      say(isWhole ? '' : 'shown in part')
    } catch {
      if (signal === gone.signal) say(signal.aborted ? 'stopped' : 'broken off')
    }
    stop.hidden = signal === gone.signal
  }

  addEventListener('pagehide', () => gone.abort())
  stop.addEventListener('click', () => gone.abort())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    gone.abort()
    gone = new AbortController()
    place.hidden = stop.hidden = false
    shown.textContent = ''
    void ask(gone)
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>('[data-ask]')) startAsking(form)
