import { Component, type FunctionComponent } from 'preact';

// memo is a component that is drawn again only when one of its props is another than
// before, or a signal that it has read has changed. It is for rows of lists that change
// many times a second.
export function memo<P extends object>(Of: FunctionComponent<P>) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>) {
      const now: Readonly<P> = this.props;
      return (Object.keys({ ...now, ...next }) as (keyof P)[]).some((name) => next[name] !== now[name]);
    }

    override render() {
      return <Of {...this.props} />;
    }
  };
}
