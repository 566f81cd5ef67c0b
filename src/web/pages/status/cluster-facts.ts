import type { Cluster, Unpublishable, WriterFault } from '../../../protocol/cluster-resource.ts'
import type { Status } from '../../../protocol/resources.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { facts } from '../../markup/book.ts'
import type { Html, Part } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { clockMoment } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Reason why a writer takes no events, in words. */
const REASONS: Readonly<Record<Unpublishable, string>> = {
  starting: 'it has just started, and listens to the others first',
  engine: 'the store that the writers share does not answer, or is not set up as it must be',
  unsettled: 'it does not know yet whether its last events were stored',
  clock: 'its clock is wrong',
  disk: 'its disk is full or has failed',
  forked: 'the store that the writers share contradicts what was published here',
  twin: 'another running writer has its name or its key',
  stopped: 'the store that the writers share, or its disk, is damaged',
}

/** Fault of another writer, in words. */
const FAULTS: Readonly<Record<WriterFault, string>> = {
  name: 'two running writers have this name',
  key: 'it has the key of another running writer',
  settings: 'it has other settings than this one',
}

/** Facts about the writers of a log with several. */
export function clusterOf({ cluster }: Status, view: View): Html | null {
  if (cluster === null) return null
  const at = (name: string, value: Part): Html => html`<span data-at="/cluster/${name}">${value}</span>`
  const { name, leads, reason, lag, writers } = cluster
  return html`<h2>The writers of this log</h2>
    ${facts([
      ['This writer', at('name', name)],
      ['Takes new events', reason === null ? 'yes' : at('reason', `no: ${REASONS[reason]}`)],
      ['Publishes what has waited', leads ? 'yes' : 'no, another writer does'],
      ['Commits not written here yet', at('lag', countHtml(lag))],
      ...writers.map(
        (writer, place) =>
          [`Events of ${writer.name}`, wordsOf(writer, `writers/${place}`, view, at)] as const,
      ),
    ])}`
}

function wordsOf(
  { seq, heardAt, silent, fault }: Cluster['writers'][number],
  pointer: string,
  view: View,
  at: (name: string, value: Part) => Html,
): Part {
  if (heardAt === null || seq === null) return 'not heard yet'
  const moment = at(`${pointer}/heardAt`, clockMoment(heardAt, view))
  if (silent) return html`silent since ${moment}`
  const heard = html`${at(`${pointer}/seq`, countHtml(seq))}, heard ${moment}`
  return fault === null ? heard : html`${heard}; ${at(`${pointer}/fault`, FAULTS[fault])}`
}
