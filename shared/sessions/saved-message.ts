import type { Block, Message, Usage } from './document.ts'
import type { Value, ValueMap } from './exact-json.ts'

// Messages that are held back stand in the parser state as they are, and come out of it with Maps for objects.

/** A message as a state has it. */
export function loadMessage(saved: ValueMap): Message {
  const usage = saved.get('usage')
  const content = (saved.get('content') ?? []) as readonly ValueMap[]
  return {
    ...Object.fromEntries(saved),
    content: content.map(loadBlock),
    usage: usage instanceof Map ? (Object.fromEntries(usage) as Usage) : undefined,
  } as unknown as Message
}

export function loadBlock(saved: ValueMap): Block {
  const block = Object.fromEntries(saved)
  const file: Value | undefined = saved.get('file')
  return (file instanceof Map ? { ...block, file: Object.fromEntries(file) } : block) as unknown as Block
}
