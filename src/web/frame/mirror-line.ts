import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../protocol/moment.ts'
import type { Mirror } from '../../protocol/endpoints/description-endpoints.ts'
import { type Html, html } from '../markup/html.ts'
import { momentOf } from '../markup/moment-html.ts'
import type { Site } from '../markup/site.ts'

/** Delay from which a page reports that its mirror is behind. */
const SAID_MS = 2 * SECOND_MS

/** Line on every page of a mirror with its origin and its delay. Null on a node that is no mirror. */
export function mirrorLine({ mirror }: Site): Html | null {
  const state = mirror?.() ?? null
  if (state === null) return null
  return html`<p class="strip" role="note">
    <span>This is a mirror of <a href="${state.of}">${hostOf(state.of)}</a>${delayOf(state)}</span>
  </p>`
}

/** Version of the line, which changes with its words. */
export function mirrorLineVersion({ state, reason, behindMs, provedAt, upstream }: Mirror): string {
  if (state !== 'following') return `${state} ${reason} ${provedAt}`
  const lost = lostUpstream(upstream)
  return lost === null
    ? `${lateness(behindMs)} ${upstream.map(({ of }) => of).join(' ')}`
    : `${lost.of} ${lost.state} ${lost.provedAt}`
}

function delayOf(mirror: Mirror): Html {
  const { state, behindMs, upstream } = mirror
  switch (state) {
    case 'stopped':
      return html`. It has stopped, because its origin contradicts what it signed. All that is shown here was
      proved before.`
    case 'waiting':
      return html`. ${waitWords(mirror).sentence} ${asOfWords(mirror)}`
    case 'following': {
      const lost = lostWords(mirror)
      if (lost !== null) return html`. ${lost}`
      const last = upstream.at(-1)
      const whose = last === undefined ? '' : `, a mirror of ${hostOf(last.of)}`
      return html`${whose}, ${lateness(behindMs)}.`
    }
  }
}

/** Heading and sentence about a mirror that waits. */
export function waitWords({ reason }: Pick<Mirror, 'reason'>): Readonly<{ title: string; sentence: string }> {
  switch (reason) {
    case 'version':
      return {
        title: 'Waiting for a newer version',
        sentence: 'Its origin has events that need a newer version of Daybook.',
      }
    case 'disk':
      return { title: 'Waiting for room', sentence: 'Its disk is full.' }
    case 'unreachable':
      return { title: 'Waiting for its origin', sentence: 'Its origin does not answer.' }
    case 'unusable':
      return { title: 'Waiting for its origin', sentence: 'The answers of its origin cannot be used now.' }
    case 'starting':
    case null:
      return {
        title: 'Starting',
        sentence: 'It has just started, and its origin has not shown the newest events yet.',
      }
  }
}

/** Moment of the last proof, in a sentence; null before the first. */
export function asOfWords({ provedAt }: Pick<Mirror, 'provedAt'>): Html | null {
  if (provedAt === null) return null
  return html`What is shown is as of ${momentOf(provedAt)}.`
}

/** Sentence about the nearest upstream mirror that does not follow; null when all follow. */
export function lostWords({ of, upstream }: Pick<Mirror, 'of' | 'upstream'>): Html | null {
  const lost = lostUpstream(upstream)
  if (lost === null) return null
  const at = upstream.indexOf(lost)
  const who = hostOf(upstream[at - 1]?.of ?? of)
  const does = lost.state === 'stopped' ? 'has stopped following' : 'cannot follow'
  return html`Its origin is no newer: ${who} is a mirror too, and ${does} ${hostOf(lost.of)}.
  ${asOfWords(lost)}`
}

function lostUpstream(upstream: Mirror['upstream']): Mirror['upstream'][number] | null {
  return upstream.find(({ state }) => state !== 'following') ?? null
}

function lateness(behindMs: number): string {
  return behindMs < SAID_MS ? 'up to date' : `${durationWords(behindMs)} behind`
}

function durationWords(ms: number): string {
  if (ms < 10 * SECOND_MS) return counted(Math.floor(ms / SECOND_MS), 'second')
  if (ms < MINUTE_MS) return counted(Math.floor(ms / (10 * SECOND_MS)) * 10, 'second')
  if (ms < HOUR_MS) return counted(Math.floor(ms / MINUTE_MS), 'minute')
  return counted(Math.floor(ms / HOUR_MS), 'hour')
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}
