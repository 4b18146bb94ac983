#!/usr/bin/env python3
"""Writes jinja.jsonl: small templates and what Jinja2 makes of them, set up as transformers do it.

Needs Jinja2 (3.1.6 made the file). The first line has the variables, each other one a template and
expected or error.
"""
import datetime
import json
import pathlib

from jinja2.exceptions import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

VARS = {
    "n": 7, "x": 2.5, "s": "Hello, wörld", "e": "", "t": True, "f": False, "none_": None,
    "l": [3, 1, 2], "w": ["b", "A", "c", "a"], "big": 123456789012345678901234567890,
    "d": {"b": 1, "a": [1, {"k": None}], "items": "own", "Ünï": "ß\n\"q\"'"},
    "messages": [{"role": "system", "content": " be \n"}, {"role": "user", "content": "hi"},
                 {"role": "assistant", "content": None, "tool_calls": [
                     {"function": {"name": "f", "arguments": {"x": 1.0, "y": [True, None]}}}]},
                 {"role": "tool", "content": "{\"ok\": true}", "name": "f"}],
}

EXPRESSIONS = r"""
1 + 2 * 3 - 4 / 2
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7.5 // 2, -7.5 % 2, 2 ** 10, 2 ** -1, 2 ** 3 ** 2
1 / 3
10 / 5
1e16, 1e15, 1.5e-7, 0.1 + 0.2, 100.0, 1_000, 0x1F, 0b11, 0o17
-3 | abs, (-3) | abs, +n, -x
n / 0
big, big | string, -big, big == big, big | tojson
'a' ~ 1 ~ none ~ 2.0 ~ true ~ [1]
'a' + 'b' * 3
'a' + 1
[1] + [2], (1,) + (2, 3), [0] * 3
1 < 2 < 3, 1 < 3 < 2, 'a' < 'b', [1, 2] < [1, 3], 1 == 1.0, true == 1, 'a' != 1
'a' < 1
none < 1
not t, not not t, t and f, f or 'x', '' or [] or 0
t and 'yes' or 'no'
'in' in 'string', 'x' not in 'abc', 3 in l, 'a' in d, 'zz' in d, 3 not in l
1 in 'abc'
'a' in none_
'a' in undefined_name
undefined_name is defined, undefined_name is undefined, undefined_name is none, none_ is none
undefined_name.x
undefined_name + 1
undefined_name ~ 'x'
undefined_name == undefined_name, undefined_name == none, undefined_name | length, undefined_name | list
d.nothing is defined, d.nothing.more
d.b, d['b'], d.a[1].k, d.a[1]['k'], d['nothing'] is defined, d.get('zz', 5), d.get('zz')
d.items is callable, d['items'], d.keys() | list, d.values() | list | length
d.items() | list
d
d | tojson
d | tojson(indent=2)
d | tojson(indent=0)
d | tojson(indent='\t', sort_keys=true)
d | tojson(ensure_ascii=true)
d | tojson(separators=(',', ':'))
[1, 2.0, none, true, 'x', (1, 2)] | tojson, {} | tojson, [] | tojson(indent=2), {1: 2, none: 3, true: 4, 1.5: 5} | tojson
undefined_name | tojson
messages | tojson
messages[0], messages[-1].name, messages[10] is defined, messages[1:3] | length, messages[::-1][0].role
l[0], l[-1], l[5] is defined, l[:2], l[1:], l[::2], l[::-1], l[10:], l[-2:], l[2:0:-1]
s[0], s[-1], s[8], s[:5], s[::-1], s[100:], s[-3:-1], s[::3]
s[1:2:0]
n[0] is defined
n[1:2]
(1,), (), (1, 2), [], {}, {'a': (1,)}
range(3), range(1, 7, 2) | list, range(5, 0, -2) | list, range(3)[1], range(0) | list, range(10) | length
range(2000000)
s | upper, s | lower, s | capitalize, 'hELLO wORLD' | title, s.title(), "it's a-b (c) [d]" | title, "it's a-b" .title()
s | length, s | wordcount, s | reverse, s | first, s | last, s | list
s.upper(), s.swapcase(), s.startswith('He'), s.startswith(('x', 'H')), s.endswith('d'), s.startswith('l', 2), s.find('l'), s.rfind('l'), s.find('zz'), s.count('l'), s.index('o')
s.index('zz')
'a,b,,c'.split(','), 'a,b,,c'.split(',', 1), ' a  b '.split(), ' a  b  c'.split(none, 1), 'a,b,c'.rsplit(',', 1), ' a b  c '.rsplit(none, 1), 'abc'.split('x')
'a'.split('')
'a\nb\r\nc\n\nd'.splitlines(), 'a\nb\n'.splitlines(true), ''.splitlines()
'a-b-c'.partition('-'), 'a-b-c'.rpartition('-'), 'abc'.partition('-'), 'abc'.rpartition('-')
'xxabcxx'.strip('x'), '  a '.strip(), '  a '.lstrip() ~ '|', '  a '.rstrip() ~ '|', '\n\t a\u00a0'.strip(), 'abcba'.strip('ab'), 'abc'.lstrip('ba')
'prefix-x'.removeprefix('prefix-'), 'x.py'.removesuffix('.py'), 'a'.removeprefix('b')
'aXbXc'.replace('X', '-'), 'aXbXc'.replace('X', '-', 1), 'ab'.replace('', '.'), 'aaa' | replace('a', 'b', 2), 5 | replace('5', 'x')
'-'.join(['a', 'b']), ', '.join(w), ''.join([])
','.join([1])
'abc'.isalpha(), 'ab1'.isalnum(), '12'.isdigit(), ' '.isspace(), 'AB'.isupper(), 'ab c'.islower(), 'Ab Cd'.istitle(), ''.isalpha(), 'é'.isalpha(), '½'.isnumeric(), 'a'.isascii(), 'é'.isascii()
'ab'.center(6) ~ '|', 'ab'.center(5, '*'), 'ab'.ljust(4, '.'), 'ab'.rjust(4), '42'.zfill(5), '-42'.zfill(5)
'{} {}'.format(1, 'a'), '{0}{1}{0}'.format('a', 'b'), '{a.b} {c[0]}'.format(a={'b': 1}, c=[2]), '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd'), '{:05d} {:+d} {:,} {:.2f} {:x} {:e} {:%}'.format(42, 5, 1234567, 3.14159, 255, 12345.678, 0.25), '{!r} {!s}'.format('a', 'b'), '{{}}'.format()
'{} {}'.format(1)
'%s and %d and %.2f and %r and %5d|%-5d|%05d and %x and %%' % ('a', 5, 3.14159, 'b', 42, 42, 42, 255)
'%s' % 'a', '%s' % [1, 2], '%(a)s-%(b)d' % {'a': 'x', 'b': 3}, '%5s|%-5s|%.2s' % ('a', 'b', 'cde')
'%s %s' % 'a'
'%d' % 'a'
'%s-%s' | format('a', 'b'), '%(x)s' | format(x=1)
'  a ' | trim, 'xxaxx' | trim('x'), 5 | trim
'foo\nbar\n\nbaz' | indent, 'foo\nbar' | indent(2, true), 'foo\n\nbar' | indent(2, blank=true), 'a\nb' | indent('> ')
'one two three four' | truncate(10), 'one two three four' | truncate(10, true), 'short' | truncate(10), 'one two three four' | truncate(9, leeway=0, end='..')
'<a href="x">&\'</a>' | e, '<b>' | escape | string, ('<b>' | safe) ~ '<i>', ('<b>' | e) + '<i>', '<p>a  b</p>\nc' | striptags
'a b/c?é' | urlencode, {'a': 'b c', 'd': '/'} | urlencode
1000 | filesizeformat, 1 | filesizeformat, 123 | filesizeformat, 1536 | filesizeformat(true), 1500000 | filesizeformat
'42' | int, '42.9' | int, 'x' | int, 'x' | int(5), '0x1f' | int(base=16), '101' | int(base=2), 3.99 | int, -3.99 | int, true | int, none | int, ' 7 ' | int, '1_000' | int, [] | int
'3.5' | float, 'x' | float, 'x' | float(1.5), 3 | float, '1e3' | float, none | float
2.5 | round, 3.5 | round, 2.675 | round(2), 1234 | round(-2), 2.1 | round(method='ceil'), 2.9 | round(0, 'floor'), 42 | round, -2.5 | round
l | sort, l | sort(reverse=true), w | sort, w | sort(case_sensitive=true), w | sort(true)
messages | sort(attribute='role') | map(attribute='role') | list
[1, 'a'] | sort
d | dictsort | map('first') | list, {'B': 1, 'a': 2} | dictsort, {'B': 1, 'a': 2} | dictsort(true), {'x': 3, 'y': 1} | dictsort(by='value'), {'x': 3, 'y': 1} | dictsort(reverse=true)
l | min, l | max, [] | max is defined, w | min, w | max, messages | map(attribute='role') | max, l | sum, [] | sum, [[1], [2]] | sum(start=[])
messages | sum(attribute='zz')
l | first, l | last, [] | first is defined, e | first is defined, l | reverse | list, l | list, 'ab' | list, d | list, d | first
messages | map(attribute='content') | list, messages | map(attribute='name', default='-') | list, w | map('upper') | list, w | map('replace', 'a', 'x') | list, l | map('string') | join(','), messages | map(attribute='tool_calls.0.function.name', default='?') | list
w | map('nofilter') | list
messages | selectattr('role', 'equalto', 'user') | list | length, messages | selectattr('name') | map(attribute='name') | list, messages | rejectattr('role', 'in', ['system', 'tool']) | map(attribute='role') | list, messages | selectattr('tool_calls', 'defined') | list | length
l | select('odd') | list, l | reject('odd') | list, [0, 1, '', 'a', none] | select | list, [0, 1, '', 'a', none] | reject | list, l | select('gt', 1) | list, l | select('>', 1) | list
l | select('notest') | list
w | unique | list, [1, 1.0, 2, true] | unique | list, w | unique(true) | list
w | join, w | join(', '), l | join('-'), messages | join(', ', attribute='role'), [none, true, 1.5] | join(' '), d | join('/')
messages | groupby('role') | map('first') | list, [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}, {'a': 0, 'b': 4}] | groupby('a') | list
l | batch(2) | list, l | batch(2, 0) | list, l | slice(2) | list, range(7) | slice(3, 'x') | list
d | items | list, undefined_name | items | list, d | attr('b') is defined
5 | items | list
l | length, d | length, n | length
messages | selectattr('role') | length
(messages | selectattr('role')) is sequence, l is sequence, s is sequence, d is sequence, d is mapping, n is mapping
undefined_name | default('x'), none | default('x'), '' | default('x'), '' | default('x', true), none | d('x', boolean=true), d.zz | default([]), n | default('x')
n is odd, n is even, n is divisibleby 7, n is divisibleby(2), n is number, x is number, t is number, s is number, n is integer, t is integer, x is integer, x is float, t is boolean, n is boolean, t is true, 1 is true, f is false
s is string, n is string, l is iterable, n is iterable, s is iterable, none is iterable, d is iterable, 'abc' is lower, 'ABC' is upper, 'a1' is lower, '1' is lower, s is callable, range is callable
1 is eq 1, 1 is eq(1), 1 is ne 2, 2 is gt 1, 2 is ge 2, 1 is lt 2, 1 is le 1, 1 is sameas 1, none is sameas none, true is sameas true, 1 is sameas true, 2 is in [1, 2], 'a' is in 'abc', 3 is not in [1]
'upper' is filter, 'nope' is filter, 'odd' is test, 'nope' is test, 'foo' | safe is escaped, 'foo' is escaped
n is not odd, not n is odd, n is defined and n is odd, undefined_name is not defined or n
'x' if t else 'y', 'x' if f else 'y', ('x' if f) is defined, 'a' if f else 'b' if f else 'c'
'x' if f
l.index(1), l.count(3), (1, 2, 1).count(1), w.index('c')
l.append(1)
d.update({'a': 1})
d.pop('a')
l.append is defined
x.is_integer(), 2.0.is_integer()
'\n\t\\\'\"\x41\u00e9\101' | length, 'a' 'b' "c", 'é' == '\u00e9', '\q'
{'a': 1, 'a': 2}, {'a': {'b': [1, (2,)]}}['a'].b[1][0]
{[1]: 2}
dict(a=1, b=2), dict({'x': 1}, y=2), dict([('a', 1)])
none, true, false, None, True, False
[1, 2][0], (1, 2)[1], {'a': 1}.a, 'abc'[1], "abc".upper()[0]
[[1, 2], [3]] | map('length') | list, [[3, 1], [2]] | map('sort') | list
1.0, 1.5, -0.0, 1e100, 123456789.123, 1e-5, 5e-324, 3.0 * 2, 7 / 7
'a' is string and 'b' is string, (1 == 1) is true
messages[2].tool_calls[0].function.arguments | tojson, messages[2]['content'] is none, messages[2].content is string
"%02d:%02d" | format(5, 7), "%c" % 65, "%s" % none, "%i" % 3.7, "%g" % 0.0001, "%e" % 12345.6789, "% d" % 5, "%+d" % 5
'ÀÉ'.lower(), 'ǆ'.title() | length, 'ﬁ' | length
'a\u2028b'.splitlines() | length, 'a\x0bb'.split() | length
'abc' | batch(2) | map('join') | list
namespace(a=1).a, namespace({'a': 2}).a, namespace().zz is defined
""".strip().split("\n")

TEMPLATES = [
    "{% for i in l %}{{ loop.index }}/{{ loop.length }}:{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for i in l %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }};{% endfor %}",
    "{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }};{% endfor %}",
    "{% for i in [1, 1, 2, 2, 3] %}{{ loop.changed(i) }} {{ loop.cycle('a', 'b') }} {% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }};{% endfor %}{% for c in 'añb' %}{{ c }}|{% endfor %}",
    "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% for i in [] %}x{% else %}empty{% endfor %}{% for i in undefined_name %}x{% else %}none{% endfor %}",
    "{% for i in n %}{% endfor %}",
    "{% for i in none_ %}{% endfor %}",
    "{% for i in range(10) if i is odd %}{{ i }}{{ loop.length }}{{ loop.last }} {% endfor %}",
    "{% for m in messages if m.role != 'system' %}{{ loop.index }}{{ m.role }} {% endfor %}",
    "{% for i in range(10) %}{% if i == 3 %}{% continue %}{% endif %}{% if i == 6 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in range(3) %}{% for j in range(3) %}{% if j == 1 %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{% endfor %}",
    "{% for i in [1, [2, [3]]] recursive %}{% if i is iterable %}({{ loop(i) }}){% else %}{{ i }}d{{ loop.depth }}{% endif %}{% endfor %}",
    "{% set a = 1 %}{% for i in l %}{% set a = a + i %}{{ a }} {% endfor %}{{ a }}",
    "{% set ns = namespace(a=1) %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}",
    "{% set ns.x = 1 %}",
    "{% set d.x = 1 %}",
    "{% if f %}{% set zz = 1 %}{% endif %}{{ zz is defined }}{% if t %}{% set zz = 2 %}{% endif %}{{ zz }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}",
    "{% set n = n + 1 %}{{ n }}{% if t %}{% set n = n * 2 %}{% endif %}{{ n }}",
    "{% for i in [1, 2] %}{% if loop.first %}{% set q = i %}{% endif %}{{ q is defined }}{% endfor %}",
    "{% set x %}a{{ n }}\nb{% endset %}[{{ x }}]",
    "{% set x | upper | trim %} a{{ n }} {% endset %}[{{ x }}]",
    "{% filter upper | replace('A', '_') %}abc {{ s }}{% endfilter %}",
    "{% filter indent(2, true) %}a\nb{% endfilter %}",
    "{% macro f(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ f(1) }}{{ f(1, c=3) }}{{ f(b=5, a=4) }}{{ f() }}",
    "{% macro f(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, z=4) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(b=2) }}",
    "{% macro f(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}",
    "{% macro f(x) %}{% if x > 0 %}{{ x }}{{ f(x - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro f() %}{{ late }}{% endmacro %}{% set late = 'set later' %}{{ f() }}",
    "{% macro f() %}{% set inner = 1 %}{% endmacro %}{{ f() }}{{ inner is defined }}",
    "{% macro f() %}[{{ caller() }}]{% endmacro %}{% call f() %}hi {{ n }}{% endcall %}",
    "{% macro f() %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) f() %}<{{ x }}>{% endcall %}",
    "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}",
    "{% macro f() %}x{% endmacro %}{% call f() %}{% endcall %}",
    "{% macro f(a) %}{{ a|length }}{% endmacro %}{{ f('abc')|int + 1 }}{{ f.name }}",
    "{% macro a() %}A{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}",
    "{% for i in l %}{% macro g(x) %}{{ x }}{{ i }}{% endmacro %}{{ g('v') }}{% endfor %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% if n == 7 %}seven{% elif n == 8 %}eight{% else %}other{% endif %}",
    "{% if n == 8 %}eight{% elif n == 7 %}seven{% elif n > 1 %}big{% else %}other{% endif %}",
    "{% raw %}{{ n }} {% if %}{% endraw %}|{%- raw -%}  x {%- endraw -%}  y",
    "a{# comment {{ n }} #}b{#- strip -#}  c",
    "  {% if t %}\n  x\n  {% endif %}\ny",
    "a\n  {%- if t -%}\n  x\n  {%- endif -%}\n  y",
    "a\n    {%+ if t %}\n  x{% endif +%}\ny",
    "{{ n }}\n\n{{ n -}}\n  z\n  {{- n }}",
    "line\n   {{ n }}\n  {% set q = 1 %}  \nz\n\n",
    "  {# c #}\nx\n {# d #} y\n",
    "x\r\ny\rz{% if t %}\r\nq{% endif %}\r\n",
    "{% if t %}a{% endif %}\n\n",
    "{{ '}}' }}{{ {'a': {'b': 1}} }}{{ \"{%\" }}",
    "{{ {'a':{'b':{}}}}}",
    "{% generation %}a{{ n }}{% endgeneration %}b",
    "{% for m in messages %}{% generation %}{% set in_gen = 1 %}{{ m.role }}{% endgeneration %}{{ in_gen is defined }}{% endfor %}",
    "{{ raise_exception('bad') }}",
    "{{ strftime_now('%Y-%m-%d') }}",
    "{{ strftime_now('%A, %B %d, %Y %H:%M:%S %j %y %b %a %p %I') }}",
    "{{ messages|map(attribute='role')|list }}{% set m = messages|selectattr('role', 'eq', 'user') %}{% for x in m %}{{ x.role }}{% endfor %}{% for x in m %}again{% endfor %}",
    "{% set it = l|map('string') %}{{ it|first }}{{ it|join(',') }}",
    "{{ (l|map('string'))[0] is defined }}{{ l|reverse|first }}",
    "{{ l|reverse|last }}",
    "{{ l|reverse|length }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}",
    "{% set j = joiner(', ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set sys = messages[0]['content'].strip() %}{% else %}{% set loop_messages = messages %}{% endif %}{{ sys }}{{ loop_messages|length }}",
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ message.role }} {% endif %}{% endfor %}",
    "{{ {} and 1 }}{{ [] or 'x' }}{{ none_ or 2 }}",
    "{{ f(1) }}",
    "{{ n(1) }}",
    "{{ s.nomethod() }}",
    "{{ none_.x }}{{ none_.x is defined }}",
    "{{ none_.x.y }}",
    "{{ n | nofilter }}",
    "{{ n is notest }}",
    "{{ 1 +",
    "{% for %}",
    "{% endif %}",
    "{% if t %}{% endfor %}",
    "{{ (1 }}",
    "{% set %}",
    "{{ 'a' if }}",
    "{% unknown %}",
    "{{ a b }}",
    "{% macro f(a=1, b) %}{% endmacro %}",
    "{{ {'role': 'x', **d} }}",
    "{{ dict(**d) }}",
    "{{ range(*[1, 4])|list }}",
    "{% set t = (1, 2) %}{{ t[0] }}{{ t }}",
    "{% if n > 5 and (s is string or n is odd) and not f %}ok{% endif %}",
    "{{ messages[0].content|trim|length }}{{ messages[0]['content'].strip()|length }}",
    "{%- for tool in [{'type': 'function', 'function': {'name': 'f', 'parameters': {'properties': {'a': {'type': ['string', 'null'], 'enum': ['x', 'y']}}, 'required': ['a']}}}] %}\n{%- set fn = tool.function %}\n{{- fn.name }}({% for p, q in fn.parameters.properties.items() %}{{ p }}{{ '' if p in fn.parameters.required else '?' }}: {{ q.type if q.type is string else q.type | join(' | ') }}{% if 'enum' in q %} ({{ q.enum | join('|') }}){% endif %}{% if not loop.last %}, {% endif %}{% endfor %})\n{%- endfor %}",
]


def environment():
    def raise_exception(message):
        raise TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    from jinja2 import nodes
    from jinja2.ext import Extension

    class Generation(Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return nodes.CallBlock(self.call_method("_pass_on"), [], [], body).set_lineno(line)

        def _pass_on(self, caller):
            return caller()

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: datetime.datetime(2025, 1, 15, 12, 0).strftime(f)
    return env


def main():
    env = environment()
    with open(pathlib.Path(__file__).parent / "jinja.jsonl", "w") as out:
        out.write(json.dumps({"vars": VARS}, ensure_ascii=False) + "\n")
        for source in ["{{ " + e + " }}" for e in EXPRESSIONS] + TEMPLATES:
            case = {"template": source}
            try:
                case["expected"] = env.from_string(source).render(**VARS)
            except Exception as error:  # whatever it is, the template must fail
                case["error"] = type(error).__name__
            out.write(json.dumps(case, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
