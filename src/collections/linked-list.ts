/** A place in a list; kept by whoever wants to take the value out again in constant time. */
export interface ListNode<Value> {
  readonly value: Value;
  readonly list: LinkedList<Value>;
  previous: ListNode<Value> | undefined;
  next: ListNode<Value> | undefined;
}

/** A doubly linked list: append, remove and rotate take constant time, whatever its length. */
export class LinkedList<Value> {
  #first: ListNode<Value> | undefined;
  #last: ListNode<Value> | undefined;
  #size = 0;

  get first(): ListNode<Value> | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  append(value: Value): ListNode<Value> {
    const node: ListNode<Value> = { value, list: this, previous: undefined, next: undefined };
    this.#link(node);
    return node;
  }

  /** Puts a value before all others. */
  prepend(value: Value): ListNode<Value> {
    const node: ListNode<Value> = { value, list: this, previous: undefined, next: this.#first };
    if (this.#first === undefined) this.#last = node;
    else this.#first.previous = node;
    this.#first = node;
    this.#size++;
    return node;
  }

  /** `node` must be in this list. */
  remove(node: ListNode<Value>): void {
    if (node.previous === undefined) this.#first = node.next;
    else node.previous.next = node.next;
    if (node.next === undefined) this.#last = node.previous;
    else node.next.previous = node.previous;
    node.previous = undefined;
    node.next = undefined;
    this.#size--;
  }

  moveToEnd(node: ListNode<Value>): void {
    if (this.#last === node) return;
    this.remove(node);
    this.#link(node);
  }

  #link(node: ListNode<Value>): void {
    node.previous = this.#last;
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
    this.#size++;
  }
}
