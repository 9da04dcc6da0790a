import { type Node, visitorKeys } from 'oxc-parser';

/** Visits every node of a tree with its ancestors, outermost first. Keeps its own stack: trees may be very deep. */
export function walkNodes(root: Node, visit: (node: Node, parents: readonly Node[]) => void): void {
  const parents: Node[] = [];
  const stack: Array<Node | 'leave'> = [root];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next === 'leave') {
      parents.pop();
      continue;
    }
    visit(next, parents);
    const children = childrenOf(next);
    if (children.length === 0) continue;
    parents.push(next);
    stack.push('leave', ...children.reverse());
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const key of visitorKeys[node.type] ?? []) {
    const value: unknown = Reflect.get(node, key);
    if (!Array.isArray(value)) {
      if (isNode(value)) children.push(value);
    } else for (const child of value) if (isNode(child)) children.push(child);
  }
  return children;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The text of a property key that is written out; undefined for a computed or private one. */
export function keyName(key: { readonly type: string; readonly name?: unknown; readonly value?: unknown }): string | undefined {
  if (key.type === 'Identifier' && typeof key.name === 'string') return key.name;
  return key.type === 'Literal' && (typeof key.value === 'string' || typeof key.value === 'number')
    ? String(key.value)
    : undefined;
}
