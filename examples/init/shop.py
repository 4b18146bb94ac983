"""The world of this example: shops that sell lamps, which are named after stars. Bring your own instead."""
import random

LAMPS = """Acrux Adhara Altair Antares Arcturus Atria Avior Bellatrix Canopus Capella Castor Deneb Dubhe Electra Elnath Fomalhaut
Gacrux Hadar Hamal Izar Kochab Lesath Maia Markab Mira Mizar Naos Polaris Pollux Procyon Regulus Rigel Sadr Saiph Sirius
Spica Tarazed Thuban Vega Wezen""".split()
TOWNS = "Bergen Cork Delft Espoo Ghent Lille Malmo Porto Siena Turin".split()
MAIN = TOWNS[0]

_numbers = random.Random(1)
IDS = {lamp: f"L{number}" for lamp, number in zip(LAMPS, _numbers.sample(range(10, 100), len(LAMPS)))}
PRICES = {(lamp, town): _numbers.randrange(10, 100) for lamp in LAMPS for town in TOWNS}
STOCK = {(lamp, town): _numbers.randrange(10, 100) for lamp in LAMPS for town in TOWNS}
