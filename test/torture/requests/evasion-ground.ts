import assert from 'node:assert/strict'
import type { Random } from '../../../sim/random.ts'
import { until } from '../../stage/stream-client.ts'
import type { EvadingCaller } from './evasion-callers.ts'
import type { EvasionFronts } from './evasion-fronts.ts'
import { type LastingAnswer, type Link, type LinkEnds, type LinkRequest, openLink } from './evasion-link.ts'
import { assertGranted, type GrantedModel, isUsedUp, openGrantedModel } from './evasion-model.ts'
import { bytesOf, type EvasionKind } from './evasion-requests.ts'
import type { RawAnswer } from './raw-answers.ts'

/** Counts of a run. */
export type EvasionCounts = Record<
  | 'requests'
  | 'answered'
  | 'refused'
  | 'ofPolite'
  | 'bursts'
  | 'connections'
  | 'streams'
  | 'streamsRefused'
  | 'abandoned'
  | 'floods',
  number
>

/** Requests of one write on a connection, when they are pipelined. */
const PIPELINED_MAX = 24
/** Requests after which a kept connection is opened anew. The service ends one after 1,000. */
const KEPT_REQUESTS_MAX = 400
/** A request of a caller. */
export type EvasionAsk = Readonly<{ caller: EvadingCaller; kind: EvasionKind }>
type Answered = EvasionAsk & Readonly<{ answer: Pick<RawAnswer, 'status' | 'headers'> }>

/** Connections to the publish APIs, the model of what is granted, and the counts of a run. */
type EvasionGround = Disposable &
  Readonly<{
    model: GrantedModel
    counts: EvasionCounts
    /** Open streams by caller. */
    streams: Map<string, LastingAnswer[]>
    /** Ends of a new connection from an address, at one of the publish APIs. */
    endsOf(peer: string): LinkEnds
    requestOf(asked: EvasionAsk): LinkRequest
    newLink(ends: LinkEnds): Link
    /** Waits until the service has seen the end of every connection that is closed here. */
    settled(): Promise<void>
    /** Sends all requests at the same moment, over connections of every kind, and judges every answer. */
    burst(asked: readonly EvasionAsk[]): Promise<void>
  }>

/** Opens connections to the publish APIs, at a moment of their clock. */
export function openEvasionGround(fronts: EvasionFronts, random: Random, startMs: number): EvasionGround {
  const model = openGrantedModel(startMs)
  fronts.setClock(startMs)
  const kept = new Map<string, { link: Link; requests: number }>()
  const streams = new Map<string, LastingAnswer[]>()
  const links = new Set<Link>()
  const counts: EvasionCounts = {
    requests: 0,
    answered: 0,
    refused: 0,
    ofPolite: 0,
    bursts: 0,
    connections: 0,
    streams: 0,
    streamsRefused: 0,
    abandoned: 0,
    floods: 0,
  }

  const endsOf = (peer: string): LinkEnds => {
    if (peer.includes(':')) return { port: fronts.ports.both, host: '::1', localAddress: peer }
    const port = random.chance(0.5) ? fronts.ports.both : fronts.ports.ipv4
    return { port, host: '127.0.0.1', localAddress: peer }
  }
  const requestOf = ({ caller, kind }: EvasionAsk): LinkRequest => ({
    method: kind.method,
    bytes: bytesOf(kind, caller.lines(random)),
  })
  const newLink = (ends: LinkEnds): Link => {
    counts.connections += 1
    const link = openLink(ends)
    links.add(link)
    return link
  }

  /** Waits until the service has seen the end of every connection that is closed here. */
  async function settled(): Promise<void> {
    for (const link of links) if (link.isClosed()) links.delete(link)
    const all = [...links, ...[...streams.values()].flat()]
    await until(async () => (await fronts.connections()) === all.filter((one) => !one.isClosed()).length)
  }

  /** A connection of these ends that is kept between bursts. It may carry requests of several callers of a proxy. */
  function keptLink(ends: LinkEnds, requests: number): Link {
    const key = JSON.stringify(ends)
    const old = kept.get(key)
    const isUsable = old !== undefined && !old.link.isClosed() && old.requests + requests < KEPT_REQUESTS_MAX
    if (old !== undefined && !isUsable) old.link[Symbol.dispose]()
    const one = isUsable ? old : { link: newLink(ends), requests: 0 }
    one.requests += requests
    kept.set(key, one)
    return one.link
  }

  async function send(link: Link, asked: readonly EvasionAsk[]): Promise<readonly Answered[]> {
    const answers = await link.ask(asked.map(requestOf))
    const statuses = answers.map(({ status }) => status)
    const targets = asked.map(({ kind }) => `${kind.method} ${kind.target}`.slice(0, 80))
    assert.equal(answers.length, asked.length, `${JSON.stringify(targets)}: ${JSON.stringify(statuses)}`)
    return asked.map((one, index) => ({ ...one, answer: answers[index] ?? assert.fail() }))
  }

  /** Sends all requests at the same moment, over connections of every kind, and judges every answer. */
  async function burst(asked: readonly EvasionAsk[]): Promise<void> {
    const byPeer = new Map<string, EvasionAsk[]>()
    for (const one of asked) {
      const peer = one.caller.peer(random)
      byPeer.set(peer, [...(byPeer.get(peer) ?? []), one])
    }
    const sent: Promise<readonly Answered[]>[] = []
    const closing: Link[] = []
    for (const [peer, all] of byPeer) {
      const lasts = all.filter(({ kind }) => kind.closes)
      const others = all.filter(({ kind }) => !kind.closes)
      const usual = others.splice(0, random.chance(0.5) ? random.between(0, others.length) : 0)
      const ends = endsOf(peer)
      for (let at = 0; at < usual.length; at += PIPELINED_MAX) {
        const link = at === 0 ? keptLink(ends, PIPELINED_MAX) : newLink(ends)
        if (at > 0) closing.push(link)
        sent.push(send(link, usual.slice(at, at + PIPELINED_MAX)))
      }
      while (others.length > 0 || lasts.length > 0) {
        const some = others.splice(0, random.chance(0.6) ? 1 : random.between(1, PIPELINED_MAX))
        const link = newLink(endsOf(peer))
        closing.push(link)
        sent.push(send(link, [...some, ...lasts.splice(0, 1)]))
      }
    }
    const answered = (await Promise.all(sent)).flat()
    for (const link of closing) link[Symbol.dispose]()
    counts.bursts += 1
    judge(answered)
  }

  function judge(answered: readonly Answered[]): void {
    for (const { caller, kind, answer } of answered) {
      if (isUsedUp(answer)) assert.notEqual(kind.scope, 'none', `${kind.method} ${kind.target} costs nothing`)
      else
        assert.ok(
          kind.statuses.includes(answer.status),
          `${caller.name}: ${answer.status} for ${kind.method} ${kind.target}`,
        )
    }
    counts.requests += answered.length
    const groups = Map.groupBy(answered, ({ caller, kind }) => `${kind.scope} ${caller.name}`)
    for (const group of groups.values()) {
      const [{ caller, kind }] = group as [Answered]
      if (kind.scope === 'none') continue
      const answers = group.map(({ answer }) => answer)
      const { answered: some, refused } = assertGranted({
        model,
        caller: caller.name,
        scope: kind.scope,
        answers,
      })
      counts.answered += some
      counts.refused += refused
      if (!caller.isPolite) continue
      assert.equal(refused, 0, 'nobody takes from a caller inside the rules')
      counts.ofPolite += some
    }
  }

  return {
    model,
    counts,
    streams,
    endsOf,
    requestOf,
    newLink,
    settled,
    burst,
    [Symbol.dispose]() {
      for (const link of links) link[Symbol.dispose]()
      for (const one of [...streams.values()].flat()) one[Symbol.dispose]()
    },
  }
}
